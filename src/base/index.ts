export { FailureError, UsageError, withRemedy } from './errors.ts';
export {
  discardFile,
  FileError,
  readLimited,
  readRegularFile,
  readRegularFileSync,
  systemProblem,
} from './files/files.ts';
export { folderProblem, homeFolder, makeFolder, newFolder, packageRoot, pathBelow } from './files/folders.ts';
export { bugFields, type Log } from './log.ts';
export { didYouMean, nearestTo } from './nearest.ts';
export { eachOf, orAborted } from './promises.ts';
export { charactersIn, count, shortList } from './terminal/count.ts';
export { createLogOutput, type LogStream, logLineOptions } from './terminal/log-output.ts';
export { coloured, type Paint, plain, type Style } from './terminal/paint.ts';
export { paragraph } from './terminal/paragraph.ts';
export {
  printable,
  printableJson,
  printableLines,
  truncated,
  withoutControls,
  withoutMarkup,
  withoutNodeHint,
} from './terminal/printable.ts';
export { isTerminalTaken, takeTerminal } from './terminal/taken.ts';
