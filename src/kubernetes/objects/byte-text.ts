import { Buffer } from 'node:buffer';

/**
 * The UTF-8 bytes of a text, one character each: Node.js writes header values so, and a path may escape bytes that are not
 * UTF-8.
 */
export const bytesOf = (text: string): string => Buffer.from(text).toString('latin1');

/** A byte, given as a character, in percent-encoding (RFC 3986, section 2.1). */
export const percentEncoded = (byte: string): string =>
  `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
