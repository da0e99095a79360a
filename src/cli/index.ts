export { completionLines, SuggestedArgument } from './complete.ts';
export { durationFlag } from './duration.ts';
export {
  addFlags,
  choiceFlag,
  defaultsOf,
  type Flag,
  FlagError,
  type Flags,
  type FlagValues,
  integerFlag,
  listFlag,
  readFlags,
  switchFlag,
  textFlag,
} from './flags.ts';
export { readLimitedFile } from './limited-file.ts';
export { logFlags, openLog } from './log.ts';
export { didYouMean, nearestTo } from './nearest.ts';
export { checkPortsDiffer, listenProblem, portProblem } from './port-problem.ts';
export {
  type CommandEntry,
  calledCommand,
  createProgram,
  type DefineCommand,
  exitCode,
  FailureError,
  type Io,
  type Program,
  paintFor,
  runProgram,
  UsageError,
} from './program.ts';
export { createProgress, startProgress } from './progress.ts';
export { shellPath } from './shell-path.ts';
export { table } from './table.ts';
export { commit, version } from './version.ts';
