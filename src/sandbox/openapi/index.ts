export { OpenApiMetrics } from './metrics.ts';
export { OpenApi } from './open-api.ts';
export { type DocumentType, documentTypes, PublishedDocument } from './published.ts';
