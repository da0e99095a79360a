export * from './admission-review.ts';
export {
  applyMergePatch,
  applyOperations,
  isOperation,
  maxPatchOperations,
  PatchError,
  type PatchOperation,
  undecodable,
} from './apply-patch.ts';
export { isBase64 } from './base64.ts';
export { ConversionError } from './conversion-error.ts';
export * from './conversion-review.ts';
export * from './field-path.ts';
export { createFirstJsonScanner, parseFirstJson, withWholeFractionsShown } from './first-json.ts';
export * from './json.ts';
export { copyOf } from './json-copy.ts';
export { encodedPatch, isSame, jsonPatchOf, mergePatchOf } from './json-diff.ts';
export * from './json-patch.ts';
export * from './label-selector.ts';
export * from './names.ts';
export { compilePattern, type Pattern, PatternError, weightOfPattern } from './pattern.ts';
export { Recent } from './recent.ts';
export * from './request-uri.ts';
export * from './status.ts';
export { timeText } from './time.ts';
