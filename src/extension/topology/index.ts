export {
  type DefinedVariables,
  defineVariables,
  type VariableDefinition,
  type VariableValues,
} from './define-variables.ts';
export { mergeVariables, type Variables, variablesOf } from './variables.ts';
export {
  type Template,
  type TemplateContext,
  type TemplateMatch,
  type TemplatePatcher,
  type WalkOptions,
  walkTemplates,
} from './walk.ts';
