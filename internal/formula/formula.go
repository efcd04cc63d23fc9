// Package formula evaluates and prints arithmetic over named numbers, written
// in Go's expression syntax: "(h*L - B) / (p + k*E)". The plan computes its
// decisions by it and explain prints them by it, so that what is shown is what
// was computed. Numbers are exact rationals; it knows no names and no functions
// of its own.
package formula

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/big"
	"strings"
)

// Func is a function that formulas may call.
type Func func(args ...*big.Rat) (*big.Rat, error)

// Scope is the names and functions that a formula may use.
type Scope struct {
	Lookup func(name string) (*big.Rat, bool)
	Funcs  map[string]Func
}

// Eval is the value of the expression. An unknown name or function, a division
// by zero and anything that is not arithmetic are errors.
func Eval(expression string, scope Scope) (*big.Rat, error) {
	e, err := parser.ParseExpr(expression)
	if err != nil {
		return nil, fmt.Errorf("formula %q: %w", expression, err)
	}
	value, err := scope.eval(e)
	if err != nil {
		return nil, fmt.Errorf("formula %q: %w", expression, err)
	}
	return value, nil
}

func (s Scope) eval(e ast.Expr) (*big.Rat, error) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return s.eval(e.X)
	case *ast.BasicLit:
		return literal(e)
	case *ast.Ident:
		if value, ok := s.Lookup(e.Name); ok {
			return value, nil
		}
		return nil, fmt.Errorf("unknown name %s", e.Name)
	case *ast.BinaryExpr:
		return s.binary(e)
	case *ast.CallExpr:
		return s.call(e)
	}
	return nil, fmt.Errorf("%T is not arithmetic", e)
}

func literal(e *ast.BasicLit) (*big.Rat, error) {
	value, ok := new(big.Rat).SetString(e.Value)
	if !ok {
		return nil, fmt.Errorf("%s is not a number", e.Value)
	}
	return value, nil
}

func (s Scope) binary(e *ast.BinaryExpr) (*big.Rat, error) {
	x, err := s.eval(e.X)
	if err != nil {
		return nil, err
	}
	y, err := s.eval(e.Y)
	if err != nil {
		return nil, err
	}
	switch e.Op {
	case token.ADD:
		return new(big.Rat).Add(x, y), nil
	case token.SUB:
		return new(big.Rat).Sub(x, y), nil
	case token.MUL:
		return new(big.Rat).Mul(x, y), nil
	case token.QUO:
		if y.Sign() == 0 {
			return nil, fmt.Errorf("%s is divided by zero", Print(e.X, nil))
		}
		return new(big.Rat).Quo(x, y), nil
	}
	return nil, fmt.Errorf("operator %s is not arithmetic", e.Op)
}

func (s Scope) call(e *ast.CallExpr) (*big.Rat, error) {
	name, ok := e.Fun.(*ast.Ident)
	if !ok || s.Funcs[name.Name] == nil {
		return nil, fmt.Errorf("unknown function %s", Print(e.Fun, nil))
	}
	var args []*big.Rat
	for _, a := range e.Args {
		value, err := s.eval(a)
		if err != nil {
			return nil, err
		}
		args = append(args, value)
	}
	value, err := s.Funcs[name.Name](args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name.Name, err)
	}
	return value, nil
}

// Text prints the expression with × for products and every name replaced by
// what replace says; a nil replace keeps the names.
func Text(expression string, replace func(name string) string) (string, error) {
	e, err := parser.ParseExpr(expression)
	if err != nil {
		return "", fmt.Errorf("formula %q: %w", expression, err)
	}
	return Print(e, replace), nil
}

// Print is Text of a parsed expression.
func Print(e ast.Expr, replace func(name string) string) string {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return "(" + Print(e.X, replace) + ")"
	case *ast.BasicLit:
		return e.Value
	case *ast.Ident:
		if replace == nil {
			return e.Name
		}
		return replace(e.Name)
	case *ast.BinaryExpr:
		return Print(e.X, replace) + " " + operators[e.Op] + " " + Print(e.Y, replace)
	case *ast.CallExpr:
		args := make([]string, 0, len(e.Args))
		for _, a := range e.Args {
			args = append(args, Print(a, replace))
		}
		return Print(e.Fun, nil) + "(" + strings.Join(args, ", ") + ")"
	}
	return fmt.Sprintf("%T", e)
}

var operators = map[token.Token]string{token.ADD: "+", token.SUB: "−", token.MUL: "×", token.QUO: "/"}
