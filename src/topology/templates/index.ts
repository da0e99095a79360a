export { TemplateError, within } from './budget.ts';
export { type NameReading, OwnWordReads, watchReads } from './own-words.ts';
export { isPatchEnabled, parsingProblem, renderName, renderValueTemplate } from './template.ts';
export { type Variables, variableValue } from './variables.ts';
