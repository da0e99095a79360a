import { styleText } from 'node:util';

export type Style = 'red' | 'green' | 'yellow' | 'cyan' | 'gray' | 'dim' | 'bold';

/** Text in a style, if the output supports styles; otherwise the text itself. */
export type Paint = (style: Style, text: string) => string;

export const plain: Paint = (_style, text) => text;

/** For a terminal: text between escape sequences (ECMA-48, 8.3.117). Empty text stays empty. */
export const coloured: Paint = (style, text) => (text === '' ? '' : styleText(style, text, { validateStream: false }));
