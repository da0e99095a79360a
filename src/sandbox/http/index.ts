export { answerAggregated } from './aggregated.ts';
export { answerDocument, type DocumentContext, version } from './documents.ts';
export { answerResource } from './endpoints.ts';
export { sendJson, sendText } from './http.ts';
export { impersonated } from './impersonation.ts';
