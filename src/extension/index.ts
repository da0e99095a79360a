export type {
  Answer,
  AnswerFields,
  Answers,
  BlockingAnswers,
  FinalAnswers,
  Hook,
  HookName,
  RequestFor,
  ResponseFor,
} from './answer.ts';
export type { CallOutcome, CallResult } from './call.ts';
export { HandlersError } from './check.ts';
export { type Handler, type HandlerContext, HandlerFailure, type HandlerOptions, handler } from './handler.ts';
export {
  createExtensionServer,
  type ExtensionCertificates,
  type ExtensionServer,
  type ExtensionServerOptions,
  type RunningExtension,
} from './server.ts';
