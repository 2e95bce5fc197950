package main

import (
	"fmt"
	"go/types"
	"strconv"
	"strings"
)

// unnameableError says why a type cannot be written down in the tree.
type unnameableError struct{ what string }

func (e *unnameableError) Error() string { return e.what + " cannot be named outside upstream" }

// typeText writes types of the upstream package pkg as Go source for its twin
// in the tree.
type typeText struct {
	pkg *types.Package
	// declared are the identifiers that the twin declares by hand: there the
	// bare name means another type than upstream's.
	declared map[string]bool
	// upstreamName is the import name of pkg itself.
	upstreamName string
	// importAs maps the path of any other package to its import name. It may
	// lack some while names are not chosen yet.
	importAs map[string]string
	// used are the other packages that the last text names.
	used []*types.Package
}

// qualify returns the import name of p, which is not pkg.
func (w *typeText) qualify(p *types.Package) string {
	w.used = append(w.used, p)
	return w.importAs[p.Path()]
}

// unnameable stops the writing; typeText.text turns it into an error.
func unnameable(format string, args ...any) {
	panic(&unnameableError{what: fmt.Sprintf(format, args...)})
}

// text calls write with a builder and returns what it wrote, or an
// *unnameableError.
func (w *typeText) text(write func(*strings.Builder)) (s string, err error) {
	w.used = nil
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *unnameableError:
			w.used, err = nil, r
		default:
			panic(r)
		}
	}()
	var b strings.Builder
	write(&b)
	return b.String(), nil
}

// write appends type t to b.
func (w *typeText) write(b *strings.Builder, t types.Type) {
	switch t := t.(type) {
	case *types.Alias:
		if !w.nameable(t.Obj()) {
			w.write(b, t.Rhs())
			return
		}
		w.writeName(b, t.Obj(), t.TypeArgs())
	case *types.Named:
		w.writeName(b, t.Obj(), t.TypeArgs())
	case *types.Basic:
		w.writeBasic(b, t)
	case *types.TypeParam:
		b.WriteString(t.Obj().Name())
	case *types.Signature:
		b.WriteString("func")
		w.writeSignature(b, t)
	case *types.Struct:
		w.writeStruct(b, t)
	case *types.Interface:
		w.writeInterface(b, t)
	case *types.Union:
		w.writeUnion(b, t)
	default:
		w.writeElem(b, t)
	}
}

// writeElem writes the types that consist of a prefix and an element.
func (w *typeText) writeElem(b *strings.Builder, t types.Type) {
	switch t := t.(type) {
	case *types.Pointer:
		b.WriteString("*")
		w.write(b, t.Elem())
	case *types.Slice:
		b.WriteString("[]")
		w.write(b, t.Elem())
	case *types.Array:
		fmt.Fprintf(b, "[%d]", t.Len())
		w.write(b, t.Elem())
	case *types.Map:
		b.WriteString("map[")
		w.write(b, t.Key())
		b.WriteString("]")
		w.write(b, t.Elem())
	case *types.Chan:
		w.writeChan(b, t)
	default:
		unnameable("the type %s", t)
	}
}

func (w *typeText) writeChan(b *strings.Builder, t *types.Chan) {
	b.WriteString(map[types.ChanDir]string{
		types.SendRecv: "chan ", types.SendOnly: "chan<- ", types.RecvOnly: "<-chan ",
	}[t.Dir()])
	if e, ok := t.Elem().(*types.Chan); ok && e.Dir() == types.RecvOnly {
		b.WriteString("(") // else the arrow would belong to the chan before it
		defer b.WriteString(")")
	}
	w.write(b, t.Elem())
}

// nameable reports whether the declared type obj has a name in the tree.
func (w *typeText) nameable(obj *types.TypeName) bool {
	p := obj.Pkg()
	if p == nil {
		return true // predeclared
	}
	if obj.Parent() != p.Scope() || !obj.Exported() {
		return false
	}
	return p == w.pkg || !isInternal(p.Path())
}

func (w *typeText) writeName(b *strings.Builder, obj *types.TypeName, args *types.TypeList) {
	if !w.nameable(obj) {
		unnameable("the type %s", obj.Name())
	}
	switch p := obj.Pkg(); {
	case p == nil:
	case p != w.pkg:
		b.WriteString(w.qualify(p) + ".")
	case w.declared[obj.Name()]:
		b.WriteString(w.upstreamName + ".")
	}
	b.WriteString(obj.Name())
	for i := range args.Len() {
		b.WriteString(map[bool]string{true: "[", false: ", "}[i == 0])
		w.write(b, args.At(i))
	}
	if args.Len() > 0 {
		b.WriteString("]")
	}
}

func (w *typeText) writeBasic(b *strings.Builder, t *types.Basic) {
	if t.Kind() == types.UnsafePointer {
		b.WriteString(w.qualify(types.Unsafe) + ".Pointer")
		return
	}
	b.WriteString(t.Name())
}

// writeSignature writes parameters and results, with their own names.
func (w *typeText) writeSignature(b *strings.Builder, s *types.Signature) {
	w.writeParams(b, s.Params(), tupleNames(s.Params()), s.Variadic())
	w.writeResults(b, s.Results(), tupleNames(s.Results()))
}

func tupleNames(t *types.Tuple) []string {
	var names []string
	for v := range t.Variables() {
		names = append(names, v.Name())
	}
	return names
}

// writeParams writes a parenthesised parameter list that uses names.
func (w *typeText) writeParams(b *strings.Builder, t *types.Tuple, names []string, variadic bool) {
	b.WriteString("(")
	for i := range t.Len() {
		if i > 0 {
			b.WriteString(", ")
		}
		if names[i] != "" {
			b.WriteString(names[i] + " ")
		}
		typ := t.At(i).Type()
		if variadic && i == t.Len()-1 {
			b.WriteString("...")
			typ = types.Unalias(typ).(*types.Slice).Elem()
		}
		w.write(b, typ)
	}
	b.WriteString(")")
}

func (w *typeText) writeResults(b *strings.Builder, t *types.Tuple, names []string) {
	if t.Len() == 0 {
		return
	}
	b.WriteString(" ")
	w.writeParams(b, t, names, false)
}

func (w *typeText) writeStruct(b *strings.Builder, t *types.Struct) {
	b.WriteString("struct {\n")
	for i := range t.NumFields() {
		f := t.Field(i)
		if !f.Exported() {
			unnameable("a struct with the field %s", f.Name())
		}
		if !f.Embedded() {
			b.WriteString(f.Name() + " ")
		}
		w.write(b, f.Type())
		if tag := t.Tag(i); tag != "" {
			b.WriteString(" " + quoteTag(tag))
		}
		b.WriteString("\n")
	}
	b.WriteString("}")
}

func quoteTag(tag string) string {
	if strconv.CanBackquote(tag) {
		return "`" + tag + "`"
	}
	return strconv.Quote(tag)
}

func (w *typeText) writeInterface(b *strings.Builder, t *types.Interface) {
	if t.IsImplicit() && t.NumEmbeddeds() == 1 {
		w.write(b, t.EmbeddedType(0))
		return
	}
	b.WriteString("interface {\n")
	for m := range t.ExplicitMethods() {
		if !m.Exported() {
			unnameable("an interface with the method %s", m.Name())
		}
		b.WriteString(m.Name())
		w.writeSignature(b, m.Signature())
		b.WriteString("\n")
	}
	for e := range t.EmbeddedTypes() {
		w.write(b, e)
		b.WriteString("\n")
	}
	b.WriteString("}")
}

func (w *typeText) writeUnion(b *strings.Builder, t *types.Union) {
	for i := range t.Len() {
		if i > 0 {
			b.WriteString(" | ")
		}
		if t.Term(i).Tilde() {
			b.WriteString("~")
		}
		w.write(b, t.Term(i).Type())
	}
}

// writeTypeParams writes the list of type parameters, or nothing.
func (w *typeText) writeTypeParams(b *strings.Builder, list *types.TypeParamList) {
	if list.Len() == 0 {
		return
	}
	b.WriteString("[")
	for i := range list.Len() {
		p := list.At(i)
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(p.Obj().Name() + " ")
		w.writeConstraint(b, p.Constraint())
	}
	b.WriteString("]")
}

// writeConstraint writes a constraint; one without a name in the tree is
// written out.
func (w *typeText) writeConstraint(b *strings.Builder, t types.Type) {
	if n, ok := types.Unalias(t).(*types.Named); ok && !w.nameable(n.Obj()) {
		t = n.Underlying()
	}
	w.write(b, t)
}
