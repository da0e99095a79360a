export {
  applyMergePatch,
  applyOperations,
  isOperation,
  maxPatchOperations,
  PatchError,
  type PatchOperation,
  undecodable,
} from './apply-patch.ts';
export { createFirstJsonScanner, parseFirstJson, withWholeFractionsShown } from './first-json.ts';
export * from './json.ts';
export { copyOf } from './json-copy.ts';
export { encodedPatch, isSame, jsonPatchOf, mergePatchOf } from './json-diff.ts';
export * from './json-patch.ts';
