export { isBase64 } from './objects/base64.ts';
export * from './objects/errors/field-path.ts';
export {
  type CauseReason,
  causeMessage,
  failure,
  invalid,
  refusal,
  type Status,
  type StatusCause,
  showValue,
} from './objects/errors/status.ts';
export * from './objects/json/apply-patch.ts';
export * from './objects/json/json.ts';
export * from './objects/json/json-patch.ts';
export * from './objects/label-selector.ts';
export * from './objects/names.ts';
export * from './objects/object-names.ts';
export { perObject } from './objects/per-object.ts';
export { parseRequestUri, type RequestUri } from './objects/request-uri.ts';
export {
  type AdmissionRequest,
  type AdmissionResponse,
  decodeAdmissionReview,
  describe,
  type Operation,
  reviewOf,
} from './objects/reviews/admission-review.ts';
export {
  type ConversionResponse,
  type ConversionReviewResponse,
  decodeConversionReview,
} from './objects/reviews/conversion-review.ts';
export { goDurationMs, goSecondsText, timeText } from './objects/time.ts';
