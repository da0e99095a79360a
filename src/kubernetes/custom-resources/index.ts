export { customResourceCauses } from './causes.ts';
export { decodingProblem, type GoType } from './go-decoding.ts';
export { invalidNames, keyCauses, metadataCauses, type NameFormat } from './metadata-causes.ts';
export { type ReadObject, readCustomResource, unknownFieldTexts } from './read.ts';
