export { isBase64 } from './objects/base64.ts';
export { ConversionError, type FieldPath, formatFieldPath } from './objects/errors/field-path.ts';
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
export {
  applyMergePatch,
  applyOperations,
  isOperation,
  maxPatchOperations,
  PatchError,
  type PatchOperation,
  undecodable,
} from './objects/json/apply-patch.ts';
export {
  asGoWrites,
  canonical,
  copyOf,
  fieldAt,
  hasMoreBytes,
  isInt32,
  isJsonObject,
  isTooDeep,
  itemsAt,
  type Json,
  JsonError,
  type JsonObject,
  maxJsonDepth,
  objectAt,
  objectsAt,
  own,
  parseFirstJson,
  parseJson,
  setOwn,
  textAt,
  textValues,
  withWholeFractionsShown,
} from './objects/json/json.ts';
export {
  changedNames,
  encodedPatch,
  isSame,
  type JsonPatchOperation,
  jsonPatchOf,
  jsonPointer,
  keyOfToken,
  mergePatchOf,
  pointerKeys,
  pointerToken,
} from './objects/json/json-patch.ts';
export {
  type LabelSelector,
  type LabelSelectorRequirement,
  labelSelectorContradiction,
  labelSelectorProblems,
  readLabelSelector,
  selectorSize,
  selectorsOverlap,
  selectsEverything,
  selectsLabels,
} from './objects/label-selector.ts';
export {
  dns1035LabelProblems,
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  inWordsOfKubernetes,
  isPortNumber,
  labelValueProblems,
  lastAppliedAnnotation,
  namespacedNameIn,
  qualifiedNameProblems,
} from './objects/names.ts';
export { groupOf, nameOf, namespacedName, namespaceOf, objectText } from './objects/object-names.ts';
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
