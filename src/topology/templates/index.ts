export { TemplateError, within } from './budget.ts';
export { isPatchEnabled, parsingProblem, renderName, renderValueTemplate, watchReads } from './template.ts';
export { type Variables, variableValue } from './variables.ts';
