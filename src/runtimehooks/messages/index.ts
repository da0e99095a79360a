export { formatProblems, type MessageProblem, messageProblems, prepareChecks } from './checks.ts';
export type { Strictness } from './compile.ts';
export { type Components, componentOf, componentsOf } from './components.ts';
export { decodeRequest, decodeResponse } from './decode.ts';
export { type OpenApiDocument, openApiDocument } from './openapi/document.ts';
export { compareHookDocuments, type HookChange } from './openapi/evolution.ts';
export { openApiPage } from './openapi/page.ts';
export { type HookDocument, OpenApiError, readHookDocument } from './openapi/read.ts';
export { sampleRequest, sampleResponse } from './sample.ts';
