// SPDX-License-Identifier: Apache-2.0
#include "ttir/op_table.h"

#include <unordered_map>

#include "ttir/op_checks.h"
#include "ttir/op_rows.h"

namespace ksplit::ttir {
namespace {

// ---- Enumerations: the words of the compact syntax and the integers of the generic one ----------

constexpr EnumCase kIntegerPredicates[] = {{"eq", 0},  {"ne", 1},  {"slt", 2}, {"sle", 3},
                                           {"sgt", 4}, {"sge", 5}, {"ult", 6}, {"ule", 7},
                                           {"ugt", 8}, {"uge", 9}};
constexpr EnumCase kFloatPredicates[] = {{"false", 0}, {"oeq", 1},  {"ogt", 2},  {"oge", 3},
                                         {"olt", 4},   {"ole", 5},  {"one", 6},  {"ord", 7},
                                         {"ueq", 8},   {"ugt", 9},  {"uge", 10}, {"ult", 11},
                                         {"ule", 12},  {"une", 13}, {"uno", 14}, {"true", 15}};
constexpr EnumCase kArithRounding[] = {{"to_nearest_even", 0},
                                       {"downward", 1},
                                       {"upward", 2},
                                       {"toward_zero", 3},
                                       {"to_nearest_away", 4}};
constexpr EnumCase kAxes[] = {{"x", 0}, {"y", 1}, {"z", 2}};
constexpr EnumCase kCaches[] = {{"none", 1}, {"ca", 2}, {"cg", 3}, {"wb", 4},
                                {"cs", 5},   {"wt", 6}, {"cv", 7}};
constexpr EnumCase kEvictions[] = {{"evict_normal", 1}, {"evict_first", 2}, {"evict_last", 3}};
constexpr EnumCase kPaddings[] = {{"zero", 1}, {"nan", 2}};
constexpr EnumCase kAtomics[] = {{"and", 1}, {"or", 2},  {"xor", 3},  {"add", 4},  {"fadd", 5},
                                 {"max", 6}, {"min", 7}, {"umax", 8}, {"umin", 9}, {"exch", 10}};
constexpr EnumCase kMemoryOrders[] = {
    {"relaxed", 1}, {"acquire", 2}, {"release", 3}, {"acq_rel", 4}};
constexpr EnumCase kScopes[] = {{"gpu", 1}, {"cta", 2}, {"sys", 3}};
constexpr EnumCase kPrecisions[] = {
    {"tf32", 0}, {"tf32x3", 1}, {"ieee", 2}, {"bf16x3", 3}, {"bf16x6", 4}};
constexpr EnumCase kScaledTypes[] = {{"e4m3", 0}, {"e5m2", 1}, {"e2m3", 2}, {"e3m2", 3},
                                     {"e2m1", 4}, {"bf16", 5}, {"fp16", 6}};
constexpr EnumCase kReductions[] = {{"none", 0}, {"add", 1}, {"min", 2}, {"max", 3}, {"inc", 4},
                                    {"dec", 5},  {"and", 6}, {"or", 7},  {"xor", 8}};
constexpr EnumCase kRoundings[] = {{"rtz", 0}, {"rtne", 1}};
constexpr EnumCase kNanRules[] = {{"none", 0}, {"all", 0xFFFF}};

constexpr EnumInfo kEnums[] = {
    {"cmpi", 64, kIntegerPredicates}, {"cmpf", 64, kFloatPredicates},
    {"round", 32, kArithRounding},    {"axis", 32, kAxes},
    {"cache", 32, kCaches},           {"evict", 32, kEvictions},
    {"padding", 32, kPaddings},       {"atomic", 32, kAtomics},
    {"order", 32, kMemoryOrders},     {"scope", 32, kScopes},
    {"precision", 32, kPrecisions},   {"scaled", 32, kScaledTypes},
    {"reduction", 32, kReductions},   {"rounding", 32, kRoundings},
    {"nan", 32, kNanRules},
};

// ---- The table ----------------------------------------------------------------------------------

constexpr std::string_view kUnary = "%0 {} : T";
constexpr std::string_view kBinary = "%0 , %1 {} : T";
constexpr std::string_view kFastUnary = "%0 ?fastmath<fastmath> {} : T";
constexpr std::string_view kFastBinary = "%0 , %1 ?fastmath<fastmath> {} : T";
constexpr std::string_view kWrapBinary = "%0 , %1 ?overflow<overflowFlags> {} : T";
constexpr std::string_view kTo = "%0 {} : T to R";
constexpr std::string_view kArrow = "%0 {} : T -> R";
constexpr std::string_view kValues = "{} (? %0 : A )";
constexpr std::string_view kFast = "fastmath?:none";
constexpr std::string_view kWrap = "overflowFlags?:none";
constexpr std::string_view kIntUnary = "T:int -> T";
constexpr std::string_view kIntBinary = "T:int T -> T";
constexpr std::string_view kFloatUnary = "T:float -> T";
constexpr std::string_view kFloatBinary = "T:float T -> T";

const OpRow kRows[] = {
    {"arith.constant", "constant", "-> R", "value", kPure, check_constant},
    {"arith.addi", kWrapBinary, kIntBinary, kWrap, kPure},
    {"arith.subi", kWrapBinary, kIntBinary, kWrap, kPure},
    {"arith.muli", kWrapBinary, kIntBinary, kWrap, kPure},
    {"arith.shli", kWrapBinary, kIntBinary, kWrap, kPure},
    {"arith.shrsi", kBinary, kIntBinary, "", kPure},
    {"arith.shrui", kBinary, kIntBinary, "", kPure},
    {"arith.divsi", kBinary, kIntBinary, "", kPure},
    {"arith.divui", kBinary, kIntBinary, "", kPure},
    {"arith.ceildivsi", kBinary, kIntBinary, "", kPure},
    {"arith.ceildivui", kBinary, kIntBinary, "", kPure},
    {"arith.floordivsi", kBinary, kIntBinary, "", kPure},
    {"arith.remsi", kBinary, kIntBinary, "", kPure},
    {"arith.remui", kBinary, kIntBinary, "", kPure},
    {"arith.andi", kBinary, kIntBinary, "", kPure},
    {"arith.ori", kBinary, kIntBinary, "", kPure},
    {"arith.xori", kBinary, kIntBinary, "", kPure},
    {"arith.maxsi", kBinary, kIntBinary, "", kPure},
    {"arith.maxui", kBinary, kIntBinary, "", kPure},
    {"arith.minsi", kBinary, kIntBinary, "", kPure},
    {"arith.minui", kBinary, kIntBinary, "", kPure},
    {"arith.mulsi_extended", kBinary, "T:int T -> T T", "", kPure},
    {"arith.mului_extended", kBinary, "T:int T -> T T", "", kPure},
    {"arith.addui_extended", "%0 , %1 {} : T , O", "T:int T -> T O:bool~T", "", kPure},
    {"arith.addf", kFastBinary, kFloatBinary, kFast, kPure},
    {"arith.subf", kFastBinary, kFloatBinary, kFast, kPure},
    {"arith.mulf", kFastBinary, kFloatBinary, kFast, kPure},
    {"arith.divf", kFastBinary, kFloatBinary, kFast, kPure},
    {"arith.remf", kFastBinary, kFloatBinary, kFast, kPure},
    {"arith.maximumf", kFastBinary, kFloatBinary, kFast, kPure},
    {"arith.minimumf", kFastBinary, kFloatBinary, kFast, kPure},
    {"arith.maxnumf", kFastBinary, kFloatBinary, kFast, kPure},
    {"arith.minnumf", kFastBinary, kFloatBinary, kFast, kPure},
    {"arith.negf", kFastUnary, kFloatUnary, kFast, kPure},
    {"arith.cmpi", "$predicate , %0 , %1 {} : T", "T:int T -> bool(T)", "predicate=cmpi", kPure},
    {"arith.cmpf", "$predicate , %0 , %1 ?fastmath<fastmath> {} : T", "T:float T -> bool(T)",
     "predicate=cmpf fastmath?:none", kPure},
    {"arith.select", "%0 , %1 , %2 {} : C?T", "C:bool T T -> T", "", kPure, check_select},
    {"arith.extsi", kTo, "T:int -> R:int~T", "", kPure, check_widens},
    {"arith.extui", kTo, "T:int -> R:int~T", "", kPure, check_widens},
    {"arith.extf", "%0 ?fastmath<fastmath> {} : T to R", "T:float -> R:float~T", kFast, kPure,
     check_widens},
    {"arith.trunci", "%0 ?overflow<overflowFlags> {} : T to R", "T:int -> R:int~T", kWrap, kPure,
     check_narrows},
    {"arith.truncf", "%0 ?$roundingmode ?fastmath<fastmath> {} : T to R", "T:float -> R:float~T",
     "roundingmode?=round fastmath?:none", kPure, check_narrows},
    {"arith.sitofp", kTo, "T:int -> R:float~T", "", kPure},
    {"arith.uitofp", kTo, "T:int -> R:float~T", "", kPure},
    {"arith.fptosi", kTo, "T:float -> R:int~T", "", kPure},
    {"arith.fptoui", kTo, "T:float -> R:int~T", "", kPure},
    {"arith.bitcast", kTo, "T:num -> R:num~T", "", kPure, check_same_width},
    {"arith.index_cast", kTo, "T:int -> R:int~T", "", kPure},
    {"arith.index_castui", kTo, "T:int -> R:int~T", "", kPure},

    {"math.absf", kFastUnary, kFloatUnary, kFast, kPure},
    {"math.acos", kFastUnary, kFloatUnary, kFast, kPure},
    {"math.acosh", kFastUnary, kFloatUnary, kFast, kPure},
    {"math.asin", kFastUnary, kFloatUnary, kFast, kPure},
    {"math.asinh", kFastUnary, kFloatUnary, kFast, kPure},
    {"math.atan", kFastUnary, kFloatUnary, kFast, kPure},
    {"math.atanh", kFastUnary, kFloatUnary, kFast, kPure},
    {"math.cbrt", kFastUnary, kFloatUnary, kFast, kPure},
    {"math.ceil", kFastUnary, kFloatUnary, kFast, kPure},
    {"math.cos", kFastUnary, kFloatUnary, kFast, kPure},
    {"math.cosh", kFastUnary, kFloatUnary, kFast, kPure},
    {"math.erf", kFastUnary, kFloatUnary, kFast, kPure},
    {"math.erfc", kFastUnary, kFloatUnary, kFast, kPure},
    {"math.exp", kFastUnary, kFloatUnary, kFast, kPure},
    {"math.exp2", kFastUnary, kFloatUnary, kFast, kPure},
    {"math.expm1", kFastUnary, kFloatUnary, kFast, kPure},
    {"math.floor", kFastUnary, kFloatUnary, kFast, kPure},
    {"math.log", kFastUnary, kFloatUnary, kFast, kPure},
    {"math.log10", kFastUnary, kFloatUnary, kFast, kPure},
    {"math.log1p", kFastUnary, kFloatUnary, kFast, kPure},
    {"math.log2", kFastUnary, kFloatUnary, kFast, kPure},
    {"math.round", kFastUnary, kFloatUnary, kFast, kPure},
    {"math.roundeven", kFastUnary, kFloatUnary, kFast, kPure},
    {"math.rsqrt", kFastUnary, kFloatUnary, kFast, kPure},
    {"math.sin", kFastUnary, kFloatUnary, kFast, kPure},
    {"math.sinh", kFastUnary, kFloatUnary, kFast, kPure},
    {"math.sqrt", kFastUnary, kFloatUnary, kFast, kPure},
    {"math.tan", kFastUnary, kFloatUnary, kFast, kPure},
    {"math.tanh", kFastUnary, kFloatUnary, kFast, kPure},
    {"math.trunc", kFastUnary, kFloatUnary, kFast, kPure},
    {"math.atan2", kFastBinary, kFloatBinary, kFast, kPure},
    {"math.copysign", kFastBinary, kFloatBinary, kFast, kPure},
    {"math.powf", kFastBinary, kFloatBinary, kFast, kPure},
    {"math.fpowi", "%0 , %1 ?fastmath<fastmath> {} : T , I", "T:float I:int~T -> T", kFast, kPure},
    {"math.fma", "%0 , %1 , %2 ?fastmath<fastmath> {} : T", "T:float T T -> T", kFast, kPure},
    {"math.isnan", kFastUnary, "T:float -> bool(T)", kFast, kPure},
    {"math.isinf", kFastUnary, "T:float -> bool(T)", kFast, kPure},
    {"math.isfinite", kFastUnary, "T:float -> bool(T)", kFast, kPure},
    {"math.absi", kUnary, kIntUnary, "", kPure},
    {"math.ctlz", kUnary, kIntUnary, "", kPure},
    {"math.cttz", kUnary, kIntUnary, "", kPure},
    {"math.ctpop", kUnary, kIntUnary, "", kPure},
    {"math.ipowi", kBinary, kIntBinary, "", kPure},

    {"tt.get_program_id", "$axis {} : R", "-> R:int", "axis=axis", kPure},
    {"tt.get_num_programs", "$axis {} : R", "-> R:int", "axis=axis", kPure},
    {"tt.make_range", "{} : R", "-> R:tensor", "start end", kPure, check_make_range},
    {"tt.splat", kArrow, "T:scalar -> R:tensor", "", kPure, check_splat},
    {"tt.unsplat", kUnary, "T:tensor -> elem(T)", "", kPure, check_unsplat},
    {"tt.broadcast", kArrow, "T:tensor -> R:tensor", "", kPure, check_broadcast},
    {"tt.expand_dims", kArrow, "T:tensor -> R:tensor", "axis", kPure, check_expand_dims},
    {"tt.reshape", "%0 ?allow_reorder ?efficient_layout {} : T -> R", "T:tensor -> R:tensor",
     "allow_reorder? efficient_layout?", kPure, check_same_count},
    {"tt.trans", kArrow, "T:tensor -> R:tensor", "order", kPure, check_trans},
    {"tt.join", "%0 , %1 {} : T -> R", "T:tensor T -> R:tensor", "", kPure, check_join},
    {"tt.split", kArrow, "T:tensor -> R:tensor R", "", kPure, check_split},
    {"tt.cat", "%0 , %1 {} : T -> R", "T:tensor T -> R:tensor", "", kPure, check_cat},
    {"tt.gather", "%0 [ %1 ] {} : fn", "T:tensor I:int -> R:tensor~I", "axis efficient_layout?",
     kPure, check_gather},
    {"tt.histogram", "%0 (? , %1 ) {} : T -> R", "T:int bool(T)? -> R:int", "", kPure},
    {"tt.reduce", "", "A* -> R*", "axis", kPure, check_reduce, 1},
    {"tt.scan", "", "A* -> A*", "axis reverse", kPure, check_scan, 1},
    {"tt.map_elementwise", "", "A* -> R*", "pack", 0, check_map_elementwise, 1},
    {"tt.reduce.return", kValues, "A*", "", kTerminator | kPure},
    {"tt.scan.return", kValues, "A*", "", kTerminator | kPure},
    {"tt.map_elementwise.return", kValues, "A*", "", kTerminator | kPure},

    {"tt.addptr", "%0 , %1 {} : P , I", "P:ptr I:int~P -> P", "", kPure},
    {"tt.load", "%0 (? , %1 ) (? , %2 ) ?cacheModifier=cache ?evictionPolicy=evict {} : P",
     "P:ptr bool(P)? loaded(P)? -> loaded(P)",
     "boundaryCheck?:[] padding?=padding cache?=cache:none evict?=evict:evict_normal "
     "isVolatile?:false",
     kSegmented},
    {"tt.store", "%0 , %1 (? , %2 ) ?cacheModifier=cache ?evictionPolicy=evict {} : P",
     "P:ptr loaded(P) bool(P)?", "boundaryCheck?:[] cache?=cache:none evict?=evict:evict_normal"},
    {"tt.atomic_rmw", "$atomic_rmw_op , $sem , $scope , %0 , %1 (? , %2 ) {} : fn",
     "P:ptr loaded(P) bool(P)? -> loaded(P)", "atomic_rmw_op=atomic sem=order scope=scope"},
    {"tt.atomic_cas", "$sem , $scope , %0 , %1 , %2 {} : fn",
     "P:ptr loaded(P) loaded(P) -> loaded(P)", "sem=order scope=scope"},
    {"tt.bitcast", kArrow, "T -> R~T", "", kPure, check_same_width},
    {"tt.int_to_ptr", kArrow, "T:int -> R:ptr~T", "", kPure},
    {"tt.ptr_to_int", kArrow, "T:ptr -> R:int~T", "", kPure},
    {"tt.fp_to_fp", "%0 ?,rounding=rounding {} : T -> R", "T:float -> R:float~T",
     "rounding?=rounding", kPure},
    {"tt.clampf", "%0 , %1 , %2 , propagateNan = $propagateNan {} : T", "T:float T T -> T",
     "propagateNan=nan", kPure},
    {"tt.precise_sqrt", kUnary, kFloatUnary, "", kPure},
    {"tt.precise_divf", kBinary, kFloatBinary, "", kPure},
    {"tt.mulhiui", kBinary, kIntBinary, "", kPure},
    {"tt.dot", "%0 , %1 , %2 ?,inputPrecision=inputPrecision {} : A * B -> R",
     "A:tensor B:tensor R:tensor -> R", "inputPrecision?=precision:ieee maxNumImpreciseAcc?:0",
     kPure, check_dot},
    {"tt.dot_scaled",
     "%0 (? scale %3 ) , %1 (? scale %4 ) , %2 lhs = $a_elem_type rhs = $b_elem_type {} : "
     "A (? , S ) * B (? , T ) -> R",
     "A:tensor B:tensor R:tensor S:tensor? T:tensor? -> R",
     "a_elem_type=scaled b_elem_type=scaled fastMath lhs_k_pack?:true rhs_k_pack?:true",
     kPure | kSegmented},

    {"tt.make_tensor_ptr", "%0 , [ %1 ] , [ %2 ] , [ %3 ] {} : <R:ptr>",
     "base(R) i64* i64* i32* -> R:ptr", "order", kPure | kSegmented, check_block_pointer},
    {"tt.advance", "%0 , [ %1 ] {} : <R:ptr>", "R:ptr i32* -> R", "", kPure, check_block_pointer},
    {"tt.make_tensor_descriptor", "%0 , [ %1 ] , [ %2 ] {} : <P:ptr> , <R:desc>",
     "P:ptr i32* i64* -> R:desc", "padding?=padding:zero", kPure | kSegmented, check_descriptor},
    {"tt.descriptor_load", "%0 [ %1 ] ?cacheModifier=cache ?evictionPolicy=evict {} : D -> R",
     "D:desc i32* -> R:tensor", "cache?=cache:none evict?=evict:evict_normal"},
    {"tt.descriptor_store", "%0 [ %2 ] , %1 {} : D , V", "D:desc V:tensor i32*"},
    {"tt.descriptor_reduce", "$kind , %0 [ %2 ] , %1 {} : D , V", "D:desc V:tensor i32*",
     "kind=reduction"},
    {"tt.descriptor_gather", "%0 [ %1 , %2 ] {} : fn", "D:desc X:int Y:int -> R:tensor"},
    {"tt.descriptor_scatter", "%0 [ %1 , %2 ] , %3 {} : D , X , Y , V",
     "D:desc X:int Y:int V:tensor"},

    {"tt.print", "$prefix {} (? : %0 : A )", "A*", "prefix hex isSigned"},
    {"tt.assert", "%0 , $message {} : T", "T:bool", "message"},
    {"tt.call", "$callee ( %0 ) {} : fn", "A* -> R*", "callee"},
    {"tt.return", kValues, "A*", "", kTerminator},
    {"tt.extern_elementwise", "%0 {} : fn", "A* -> R", "libname libpath pure symbol", 0,
     check_elementwise},
    {"tt.elementwise_inline_asm", "$asm_string {} (? %0 : A ) -> R", "A* -> R*",
     "asm_string constraints packed_element pure", 0, check_elementwise},

    {"scf.for", "custom", "L:int L L A* -> A*", "unsignedCmp?", 0, check_for, 1},
    {"scf.if", "custom", "i1 -> R*", "", 0, check_if, 2},
    {"scf.while", "custom", "A* -> R*", "", 0, check_while, 2},
    {"scf.yield", kValues, "A*", "", kTerminator | kPure},
    {"scf.condition", "( %0 ) {} (? %1 : A )", "i1 A*", "", kTerminator | kPure},
    {"cf.br", "^0 {}", "", "", kTerminator | kPure, nullptr, 0, 1},
    {"cf.cond_br", "%0 , ^0 , ^1 {}", "i1", "", kTerminator | kPure | kSegmented, nullptr, 0, 2},

    {"ub.poison", "{} : R", "-> R", "value?:#ub.poison", kPure},
    {"gpu.barrier", "{}", ""},
    {"llvm.intr.assume", "%0 {} : T", "T:bool", "op_bundle_sizes?:[]"},
};

const std::vector<OpInfo>& table() {
  static const std::vector<OpInfo> kTable = [] {
    std::vector<OpInfo> ops;
    for (const OpRow& row : kRows) ops.push_back(read_row(row, kEnums));
    return ops;
  }();
  return kTable;
}

}  // namespace

const OpInfo* find_op(std::string_view name) {
  static const std::unordered_map<std::string_view, const OpInfo*> kByName = [] {
    std::unordered_map<std::string_view, const OpInfo*> map;
    for (const OpInfo& info : table()) map.emplace(info.name, &info);
    return map;
  }();
  const auto found = kByName.find(name);
  return found == kByName.end() ? nullptr : found->second;
}

std::span<const OpInfo> all_ops() {
  return table();
}

}  // namespace ksplit::ttir
