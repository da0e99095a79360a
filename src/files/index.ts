export { FileError, readRegularFile, readRegularFileSync } from './regular-file.ts';
export { parseSmallYaml, YamlError } from './yaml.ts';
