export { type OpenApiDocument, type Operation, openApiDocument } from './document.ts';
