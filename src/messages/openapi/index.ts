export { type HookOperation, type OpenApiDocument, openApiDocument } from './document.ts';
export { compareHookDocuments, type EvolutionFacts, type HookChange } from './evolution.ts';
export { openApiPage } from './page.ts';
export { type DocumentedHook, type HookDocument, OpenApiError, readHookDocument } from './read.ts';
