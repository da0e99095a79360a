export { type OpenApiDocument, type Operation, openApiDocument } from './document.ts';
export { openApiPage } from './page.ts';
