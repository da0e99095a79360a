import { inspect } from 'node:util';

export const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** Checks a number, which may come from the environment. @throws {RangeError} that names option, value and range. */
export function checkNumber(
  option: string,
  value: number,
  { min, max, isWhole = false }: { min: number; max?: number; isWhole?: boolean },
): void {
  const isInside = typeof value === 'number' && value >= min && value <= (max ?? Number.POSITIVE_INFINITY);
  if (!isInside || (isWhole && !Number.isInteger(value))) {
    const range = max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
    throw new RangeError(
      `${option}: ${inspect(value).slice(0, 100)} is not a ${isWhole ? 'whole ' : ''}number ${range}`,
    );
  }
}

/** The prefix of all paths: empty, or with a leading slash and no trailing one. @throws {TypeError} */
export function prefixOf(path = ''): string {
  const segments = path.split('/').filter((segment) => segment !== '');
  if (segments.some((segment) => segment === '.' || segment === '..' || /[?#\s]/.test(segment))) {
    throw new TypeError(
      `path: ${JSON.stringify(path)} is not a path: use service.path of the ExtensionConfig, such as /extensions/backup`,
    );
  }
  return segments.map((segment) => `/${segment}`).join('');
}
