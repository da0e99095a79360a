import './node-version.ts';

export {
  type BuiltinVariables,
  type DefinedVariables,
  defineVariables,
  getField,
  matches,
  setArguments,
  setField,
  type Template,
  type TemplateContext,
  type TemplateFor,
  type TemplateKind,
  type TemplateKinds,
  type TemplateMatch,
  type TemplatePatcher,
  type VariableDefinition,
  type Variables,
  type VariableValues,
  variablesOf,
  type WalkOptions,
  walkTemplates,
} from '../extension/index.ts';
