export { getField, setArguments, setField } from '../objects/json-path.ts';
export {
  type DefinedVariables,
  defineVariables,
  schemaFrom,
  type VariableDefinition,
  type VariableValues,
} from './define-variables.ts';
export type { BuiltinVariables } from './variables.ts';
export { type Variables, variablesOf } from './variables.ts';
export {
  matches,
  type Template,
  type TemplateContext,
  type TemplateFor,
  type TemplateKind,
  type TemplateKinds,
  type TemplateMatch,
  type TemplatePatcher,
  type WalkOptions,
  walkTemplates,
} from './walk.ts';
