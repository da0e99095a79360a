export { objectOf } from './called-object.ts';
export { componentsOf, resolved } from './components.ts';
export { decodeRequest, decodeResponse } from './decode.ts';
export { compileChecks, type MessageProblem, messageProblem, problemText, unknownFields } from './message-problems.ts';
export { openApiDocument } from './openapi.ts';
export { openApiPage } from './openapi-page.ts';
export { sampleRequest, sampleResponse } from './sample.ts';
