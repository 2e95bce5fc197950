package dropin

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"slices"
)

// Compare lists, sorted, what keeps tree from standing in for upstream. Each
// exported identifier of each upstream package must be in the package of the
// same place in tree, and there
//
//   - a type must be an alias of the very type, so that fields and methods are
//     the same too; a generic one with the same type parameters;
//   - a constant must have the same type and value;
//   - a variable must be one of the same type;
//   - a function must be a function, or a variable that holds one, of the same
//     type; constraints of a generic one may be written otherwise as long as
//     they accept the same. One relaxation: where upstream returns a type that has no name
//     outside its package, tree may return a type of its own whose exported
//     methods include those of upstream's with the same signatures.
//
// Both must come from one Load, else no two types are identical.
func Compare(upstream, tree Packages) []string {
	var diffs []string
	for _, rel := range slices.Sorted(maps.Keys(upstream)) {
		up, own := upstream[rel], tree[rel]
		if own == nil {
			diffs = append(diffs, rel+": package is missing")
			continue
		}
		if up.Name() != own.Name() {
			diffs = append(diffs, fmt.Sprintf("%s: package is named %s, upstream's %s", rel, own.Name(), up.Name()))
		}
		for _, name := range up.Scope().Names() {
			if obj := up.Scope().Lookup(name); obj.Exported() {
				if d := compareObject(obj, own.Scope().Lookup(name)); d != "" {
					diffs = append(diffs, fmt.Sprintf("%s.%s: %s", rel, name, d))
				}
			}
		}
	}
	return diffs
}

// compareObject says how own differs from its upstream twin, "" where it does
// not.
func compareObject(up, own types.Object) string {
	if own == nil {
		return "is missing"
	}
	switch up := up.(type) {
	case *types.TypeName:
		if own, ok := own.(*types.TypeName); ok {
			return compareTypeNames(up, own)
		}
	case *types.Const:
		if own, ok := own.(*types.Const); ok {
			return compareConsts(up, own)
		}
	case *types.Var:
		if _, ok := own.(*types.Var); ok {
			return compareTypes(up.Type(), own.Type())
		}
	case *types.Func:
		if s, ok := own.Type().(*types.Signature); ok && !isTypeName(own) {
			return compareFuncs(up.Signature(), s)
		}
	}
	return fmt.Sprintf("is %s, upstream's %s", own, up)
}

func isTypeName(obj types.Object) bool {
	_, ok := obj.(*types.TypeName)
	return ok
}

func compareTypes(up, own types.Type) string {
	if types.Identical(up, own) {
		return ""
	}
	return fmt.Sprintf("has type %s, upstream's %s", own, up)
}

func compareConsts(up, own *types.Const) string {
	if d := compareTypes(up.Type(), own.Type()); d != "" {
		return d
	}
	if !constant.Compare(up.Val(), token.EQL, own.Val()) {
		return fmt.Sprintf("is %s, upstream's %s", own.Val().ExactString(), up.Val().ExactString())
	}
	return ""
}

// compareTypeNames compares declared types; generic ones as instances whose
// arguments are the type parameters of upstream's.
func compareTypeNames(up, own *types.TypeName) string {
	params := typeParams(up.Type())
	if n := typeParams(own.Type()).Len(); n != params.Len() {
		return fmt.Sprintf("has %d type parameters, upstream's %d", n, params.Len())
	}
	if params.Len() == 0 {
		return compareTypes(up.Type(), own.Type())
	}
	args := typeArgs(params)
	upInst, err := types.Instantiate(nil, up.Type(), args, true)
	if err != nil {
		return err.Error()
	}
	ownInst, err := types.Instantiate(nil, own.Type(), args, true)
	if err != nil {
		return fmt.Sprintf("has a narrower constraint: %s", err)
	}
	return compareTypes(upInst, types.Unalias(ownInst))
}

// typeArgs makes the type parameters of list arguments.
func typeArgs(list *types.TypeParamList) []types.Type {
	var args []types.Type
	for p := range list.TypeParams() {
		args = append(args, p)
	}
	return args
}

func typeParams(t types.Type) *types.TypeParamList {
	if t, ok := t.(interface{ TypeParams() *types.TypeParamList }); ok {
		return t.TypeParams()
	}
	return nil
}
