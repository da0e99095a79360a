export { customResourceCauses } from './causes.ts';
export { decodingProblem, type GoType } from './go-decoding.ts';
export { keyCauses, metadataCauses, type NameFormat } from './metadata-causes.ts';
export { goTypeOf, type ReadObject, readCustomResource, unknownFieldTexts } from './read.ts';
