export { objectOf } from './called-object.ts';
export {
  type Check,
  compileChecks,
  type MessageProblem,
  messageProblem,
  problemText,
  unknownFields,
} from './checks.ts';
export { type Components, componentOf, componentsFor, componentsOf, resolved } from './components.ts';
export { decodeRequest, decodeResponse } from './decode.ts';
export { openApiDocument } from './openapi.ts';
export { sampleRequest, sampleResponse } from './sample.ts';
