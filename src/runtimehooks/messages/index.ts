export { resolved } from '../catalog/schema.ts';
export { objectOf } from './called-object.ts';
export { decodeRequest, decodeResponse } from './decode.ts';
export { compileChecks, type MessageProblem, messageProblem, problemText, unknownFields } from './message-problems.ts';
export { componentsOf, openApiDocument, openApiPage } from './openapi.ts';
export { sampleRequest, sampleResponse } from './sample.ts';
