package dropin

import (
	"errors"
	"fmt"
	"go/types"
	"slices"
	"strings"
)

// compareFuncs compares signatures, with the relaxation that Compare describes.
func compareFuncs(up, own *types.Signature) string {
	if types.Identical(up, own) {
		return ""
	}
	if up.TypeParams().Len() > 0 && up.TypeParams().Len() == own.TypeParams().Len() {
		return compareGenericFuncs(up, own)
	}
	different := compareTypes(up, own)
	if up.TypeParams().Len() != own.TypeParams().Len() || up.Variadic() != own.Variadic() ||
		!types.Identical(up.Params(), own.Params()) || up.Results().Len() != own.Results().Len() {
		return different
	}
	for i := range up.Results().Len() {
		upResult, ownResult := up.Results().At(i).Type(), own.Results().At(i).Type()
		if types.Identical(upResult, ownResult) {
			continue
		}
		if !hidden(upResult) {
			return different
		}
		if missing := missingMethods(upResult, ownResult); len(missing) > 0 {
			return fmt.Sprintf("returns %s, which lacks %s of upstream's %s", ownResult, strings.Join(missing, ", "), upResult)
		}
	}
	return ""
}

// compareGenericFuncs compares signatures with as many type parameters. Their
// constraints need not be the same type, since upstream's may have no name
// outside its package; each must accept what the other does.
func compareGenericFuncs(up, own *types.Signature) string {
	upParams, ownParams := typeArgs(up.TypeParams()), typeArgs(own.TypeParams())
	if _, err := types.Instantiate(nil, up, ownParams, true); err != nil {
		return fmt.Sprintf("has a wider constraint: %s", err)
	}
	upInst, upErr := types.Instantiate(nil, up, upParams, true)
	ownInst, err := types.Instantiate(nil, own, upParams, true)
	if err = errors.Join(upErr, err); err != nil {
		return fmt.Sprintf("has a narrower constraint: %s", err)
	}
	if types.Identical(upInst, ownInst) {
		return ""
	}
	return fmt.Sprintf("has type %s, upstream's %s", own, up)
}

// hidden reports whether t, or what it points to, is a declared type without a
// name outside its package.
func hidden(t types.Type) bool {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && !n.Obj().Exported()
}

// missingMethods lists the exported methods of up that own lacks or has with
// another signature.
func missingMethods(up, own types.Type) []string {
	have := types.NewMethodSet(own)
	var missing []string
	for m := range types.NewMethodSet(up).Methods() {
		if !m.Obj().Exported() {
			continue
		}
		twin := have.Lookup(nil, m.Obj().Name())
		if twin == nil || !types.Identical(m.Type(), twin.Type()) {
			missing = append(missing, m.Obj().Name()+strings.TrimPrefix(m.Type().String(), "func"))
		}
	}
	slices.Sort(missing)
	return missing
}
