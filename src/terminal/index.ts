export { count } from './count.ts';
export { firstOf } from './first-of.ts';
export { coloured, type Paint, plain, type Style } from './paint.ts';
export { printable, withoutControls } from './printable.ts';
export { isTerminalTaken, takeTerminal } from './taken.ts';
export { truncated } from './truncated.ts';
export { withoutMarkup, xmlText } from './xml-text.ts';
