package schema

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"cuelang.org/go/cue"

	"github.com/meshgen/meshgen/internal/profile"
)

func compiledSchema(t *testing.T) *compiled {
	t.Helper()
	s, err := compile()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSchemaAndStructsHaveTheSameFields(t *testing.T) {
	compareFields(t, "", compiledSchema(t).profile, reflect.TypeFor[profile.Profile]())
}

func compareFields(t *testing.T, path string, s *shape, typ reflect.Type) {
	t.Helper()
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	switch {
	case reflect.PointerTo(typ).Implements(reflect.TypeFor[json.Unmarshaler]()):
	case typ.Kind() == reflect.Slice:
		if s.item == nil {
			t.Fatalf("%s is a list in Go only", path)
		}
		compareFields(t, path+"[]", s.item, typ.Elem())
	case typ.Kind() == reflect.Map:
		if s.each == nil {
			t.Fatalf("%s is a map in Go only", path)
		}
		compareFields(t, path+"{}", s.each, typ.Elem())
	case typ.Kind() == reflect.Struct:
		compareStruct(t, path, s, typ)
	case s.fields != nil || s.item != nil:
		t.Errorf("%s is a scalar in Go only", path)
	}
}

func compareStruct(t *testing.T, path string, s *shape, typ reflect.Type) {
	t.Helper()
	var names []string
	for i := range typ.NumField() {
		name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		names = append(names, name)
		if s.fields[name] == nil {
			t.Errorf("%s.%s is a field in Go only", path, name)
			continue
		}
		compareFields(t, path+"."+name, s.fields[name], typ.Field(i).Type)
	}
	for _, name := range s.names {
		if !slices.Contains(names, name) {
			t.Errorf("%s.%s is a field in CUE only", path, name)
		}
	}
}

func TestEveryFieldIsDocumentedAndEveryValueHasWords(t *testing.T) {
	var visit func(path string, s *shape)
	visit = func(path string, s *shape) {
		if s.fields == nil && s.item == nil && s.each == nil && s.kinds != cue.BoolKind && s.expect == "" && len(s.choices) == 0 {
			t.Errorf("%s has no words for what it expects", path)
		}
		for _, name := range s.names {
			f := s.fields[name]
			if !strings.HasSuffix(f.doc, ".") {
				t.Errorf("%s.%s has no sentence of documentation: %q", path, name, f.doc)
			}
			visit(path+"."+name, f)
		}
		for _, sub := range []*shape{s.item, s.keys, s.each} {
			if sub != nil {
				visit(path+"[]", sub)
			}
		}
	}
	visit("", compiledSchema(t).profile)
}

func TestDefaultsFitTheShape(t *testing.T) {
	s := compiledSchema(t)
	var visit func(path string, g *gap, at *shape)
	visit = func(path string, g *gap, at *shape) {
		switch {
		case at == nil:
			t.Errorf("%s is no field", path)
		case g.value != nil && !at.accepts(g.value):
			t.Errorf("%s: the default %s is %s", path, g.value.literal, at.expected())
		case g.item != nil:
			visit(path+"[]", g.item, at.item)
		}
		for _, f := range g.fields {
			visit(path+"."+f.key, f.gap, at.fields[f.key])
		}
	}
	visit("", s.defaults, s.profile)
}
