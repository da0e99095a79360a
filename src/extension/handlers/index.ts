export {
  type Answer,
  type AnswerFields,
  type Answers,
  answersOf,
  type BlockingAnswers,
  type FinalAnswers,
  type Hook,
  type HookName,
  type OrUndefined,
  type RequestFor,
  type ResponseFor,
  responseIn,
} from './answer.ts';
export { checkHandlers, HandlersError } from './check.ts';
export { discoveryOf } from './discovery.ts';
export { type Handler, type HandlerContext, HandlerFailure, type HandlerOptions, handler } from './handler.ts';
export { checkKind, checkOptions, checkPort, isText, prefixOf } from './options.ts';
export { fault, intendedFailure } from './thrown.ts';
