import { inspect } from 'node:util';

/** Characters of a value that an error shows. */
const maxShown = 100;

/** An option's value in an error. A secret given in the wrong place may be part of an object, which is not shown. */
function shown(value: unknown): string {
  if (typeof value === 'object' && value !== null) {
    return Array.isArray(value) ? 'a list' : 'an object';
  }
  return typeof value === 'function' ? 'a function' : inspect(value).slice(0, maxShown);
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Whether a value is text of at least one character. */
export const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/**
 * Checks that options are an object. Types say so too, but not to plain JavaScript.
 *
 * @param what the function that takes them.
 * @param example of options, for the remedy.
 * @throws {TypeError}
 */
export function checkOptions(options: unknown, what: string, example: string): void {
  if (!isObject(options) || Array.isArray(options)) {
    throw new TypeError(`${what}: ${shown(options)} is not an object of options: pass ${example}`);
  }
}

/** What an option may be, and what is wrong with another value. */
const kinds = {
  text: [(value: unknown) => typeof value === 'string', 'is not text'],
  boolean: [(value: unknown) => typeof value === 'boolean', 'is not true or false'],
  function: [(value: unknown) => typeof value === 'function', 'is not a function'],
  object: [(value: unknown) => isObject(value) && !Array.isArray(value), 'is not an object'],
  log: [
    (value: unknown) =>
      isObject(value) &&
      ['child', 'debug', 'info', 'warn', 'error'].every((name) => typeof (value as never)[name] === 'function'),
    'is not a logger of pino',
  ],
  texts: [(value: unknown) => Array.isArray(value) && value.every(isText), 'is not a list of text'],
} as const;

/**
 * Checks what an optional option is.
 *
 * @throws {TypeError} that names the option, its value, and the remedy.
 */
export function checkKind(option: string, value: unknown, kind: keyof typeof kinds, remedy: string): void {
  const [is, problem] = kinds[kind];
  if (value !== undefined && !is(value)) {
    throw new TypeError(`${option}: ${shown(value)} ${problem}: ${remedy}`);
  }
}

/** @throws {TypeError} when the option is given and not a port. */
export function checkPort(option: string, port: number | undefined): void {
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port <= 65_535)) {
    throw new TypeError(
      `${option}: ${shown(port)} is not a port: give a whole number up to 65535, or 0 for any free one`,
    );
  }
}

/**
 * The prefix of all paths: empty, or with a leading slash and no trailing one.
 *
 * @throws {TypeError} for text that is not a path.
 */
export function prefixOf(path: string | undefined): string {
  checkKind('path', path, 'text', 'give service.path of the ExtensionConfig, such as /extensions/backup');
  const trimmed = (path ?? '').split('/').filter((segment) => segment !== '');
  if (trimmed.some((segment) => segment === '.' || segment === '..' || /[?#\s]/.test(segment))) {
    throw new TypeError(`path: ${JSON.stringify(path)} is not a path such as /extensions/backup`);
  }
  return trimmed.map((segment) => `/${segment}`).join('');
}
