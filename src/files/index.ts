export { FileError, readRegularFile, readRegularFileSync } from './regular-file.ts';
