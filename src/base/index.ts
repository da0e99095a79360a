export {
  discardFile,
  FileError,
  readLimited,
  readRegularFile,
  readRegularFileSync,
  systemProblem,
} from './files/files.ts';
export { folderProblem, homeFolder, makeFolder, packageRoot } from './files/folders.ts';
export { bugFields, type Log } from './log.ts';
export { didYouMean, nearestTo } from './nearest.ts';
export { eachOf, orAborted } from './promises.ts';
export { createLogOutput, type LogStream, logLineOptions } from './terminal/log-output.ts';
export { coloured, type Paint, plain, type Style } from './terminal/paint.ts';
export {
  printable,
  printableJson,
  printableLines,
  truncated,
  withoutControls,
  withoutMarkup,
} from './terminal/printable.ts';
export { isTerminalTaken, takeTerminal } from './terminal/taken.ts';
export { charactersIn, count, paragraph, shortList, withoutNodeHint } from './terminal/words.ts';
