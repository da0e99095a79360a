export { discardFile } from './discard-file.ts';
export { folderProblem } from './folder-problem.ts';
export { homeFolder } from './home-folder.ts';
export { makeFolder } from './make-folder.ts';
export { FileError, readRegularFile, readRegularFileSync } from './regular-file.ts';
export { parseSmallYaml, readableYaml, YamlError, yaml } from './yaml.ts';
