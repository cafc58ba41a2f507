// Package expressions compiles and evaluates what people write in CEL: the rules in the schemas of CustomResourceDefinitions (x-kubernetes-validations) and those of admission policies.
//
// The language, its libraries and cost model are k8s.io/apiserver's and k8s.io/apiextensions-apiserver's over github.com/google/cel-go, as far as they come without the rest of a server; what a
// definition or a policy may say, and the order in which it is looked at, is written here. Nothing is compiled, nor any environment made, before the first rule or policy is met: the first takes some
// 20 ms for the environment, each further one a millisecond or less.
//
// Evaluation is real time that the loop spends on one request, so it is bounded twice: by a cost limit for each expression and by a budget for all expressions that look at one object,
// both in Kubernetes' units and less than Kubernetes allows (see Budget). Compilation is bounded by the size of what is compiled (see SourceMost). Neither asks a clock: the same objects have the same answers.
//
// Owns: Rules, Policy and the checks of definitions. Imports of ours: none. Goroutines: any; what is compiled is shared and never changes. Time: none.
package expressions
