# Writes a C++ header that holds the text of the files that generated kernels include.
#   cmake -DOUTPUT=file -DINPUTS=a.h,b.h -P embed.cmake
string(REPLACE "," ";" INPUTS "${INPUTS}")
set(text "// Made from the headers beside it.\n#pragma once\n\n#include <string_view>\n\n")
string(APPEND text "namespace ksplit::cpu {\n\n")
string(APPEND text "struct KernelSource {\n  const char* name;\n  std::string_view text;\n};\n\n")
string(APPEND text "inline constexpr KernelSource kKernelSources[] = {\n")
foreach(input ${INPUTS})
  get_filename_component(name ${input} NAME)
  file(READ ${input} content)
  string(APPEND text "    {\"${name}\", R\"ksplit(${content})ksplit\"},\n")
endforeach()
string(APPEND text "};\n\n}  // namespace ksplit::cpu\n")
file(WRITE ${OUTPUT} "${text}")
