import { isIPv4, isIPv6 } from 'node:net';
import { isBase64 } from '../objects/base64.ts';
import { own } from '../objects/json/json.ts';
import { dns1123LabelProblems, dns1123SubdomainProblems } from '../objects/names.ts';
import { parseRequestUri } from '../objects/request-uri.ts';
import { goDurationMs } from '../objects/time.ts';
import { compilePattern } from './pattern.ts';

/** A duration in words (kube-openapi, strfmt.ParseDuration): a number with a unit, whatever is around them. */
const words = /\d\s*(?:(?:ns|us|µs|ms|s|m|h|hr|d|w|wk)(?![a-zµ])|nano|micro|milli|sec|min|hour|day|week)/i;

/** JavaScript takes February 30 for March 1. */
const isDate = (text: string) => /^\d{4}-\d{2}-\d{2}$/.test(text) && JSON.stringify(new Date(text)).startsWith(text, 1);

const clock = /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:.\d+)?(?:z|[+-]\d{2}:\d{2})$/i;

/** Some text, then an address in angle brackets, or an address alone. */
const email = /^(?:[^<>@,:;]*<([^<>]*)>|([^<>]*))$/;
const address =
  /^(?:[^\s()<>[\]:;@\\,."]+(?:\.[^\s()<>[\]:;@\\,."]+)*|"[^"\\]*")@[^\s()<>[\]:;@\\,."]+(?:\.[^\s()<>[\]:;@\\,."]+)*$/;

function isEmail(text: string): boolean {
  const [, bracketed, plain = ''] = email.exec(text) ?? [];
  return address.test((bracketed ?? plain).trim());
}

const hostname =
  '^([a-zA-Z0-9\\p{S}\\p{L}]((-?[a-zA-Z0-9\\p{S}\\p{L}]{0,62})?)|([a-zA-Z0-9\\p{S}\\p{L}](([a-zA-Z0-9-\\p{S}\\p{L}]{0,61}[a-zA-Z0-9\\p{S}\\p{L}])?)(\\.)){1,}([a-zA-Z\\p{L}]){2,63})$';

/** Numbers may begin with zeros, as they could before Go 1.17. */
const withoutZeros = (text: string) => text.replace(/(^|\.)0+(?=\d)/g, '$1');
const isAnyIPv4 = (text: string) => isIPv4(withoutZeros(text));
const isIPv6WithoutZone = (text: string) => isIPv6(text) && !text.includes('%');
const isIP = (text: string) => isAnyIPv4(text) || isIPv6WithoutZone(text);

function isCidr(text: string): boolean {
  const [, ip = '', bits = ''] = /^([^/]*)\/(\d+)$/.exec(text) ?? [];
  return isIP(ip) && Number(bits) <= (ip.includes(':') ? 128 : 32);
}

const formats: Readonly<Record<string, RegExp | ((text: string) => boolean)>> = {
  // Built-in kinds may have empty data, which is decoded; of custom resources an API server refuses it.
  byte: isBase64,
  email: isEmail,
  uri: (text) => !('problem' in parseRequestUri(text)),
  duration: (text) => goDurationMs(text) !== undefined || words.test(text),
  date: isDate,
  'date-time': (text) => isDate(text.slice(0, 10)) && /^t$/i.test(text[10] ?? '') && clock.test(text.slice(11)),
  hostname: (text) => text.length < maxShort && compilePattern(hostname).test(text),
  cidr: isCidr,
  ipv4: (text) => isAnyIPv4(text) || (isIPv6(text) && text.includes('.')),
  ipv6: isIPv6WithoutZone,
  'k8s-long-name': (text) => dns1123SubdomainProblems(text).length === 0,
  'k8s-short-name': (text) => dns1123LabelProblems(text).length === 0,
  mac: /^(?:[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){4}(?:(?:[0-9a-f]{2}\1){2}|(?:[0-9a-f]{2}\1){14})?[0-9a-f]{2}|[0-9a-f]{4}(?:\.[0-9a-f]{4}){2}(?:\.[0-9a-f]{4}|(?:\.[0-9a-f]{4}){7})?)$/i,
  uuid: /^[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$/i,
  uuid3: /^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i,
  uuid4: /^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i,
  uuid5: /^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i,
};

/** Longest text of most formats, in characters, and of others: some expressions run out of stack from some 6 Mi on. */
const maxShort = 256;
const maxLengths: Readonly<Record<string, number>> = { byte: Infinity, email: 4 * 1024 * 1024, uri: 4 * 1024 * 1024 };

/** Whether a text has a format, of those that the API server checks (kube-openapi, pkg/validation/strfmt): it ignores others. */
export function hasFormat(text: string, format: string): boolean {
  const check = own(formats, format);
  const fits = check instanceof RegExp ? (value: string) => check.test(value) : check;
  return fits === undefined || (text.length <= (maxLengths[format] ?? maxShort) && fits(text));
}
