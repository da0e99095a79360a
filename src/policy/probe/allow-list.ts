import { BlockList, isIP, isIPv4 } from 'node:net';

interface Range {
  address: string;
  prefix: number;
  family: 'ipv4' | 'ipv6';
}

/** A text is neither a range of addresses nor a name. The message says what is expected. */
export class AllowListError extends Error {}

/**
 * Addresses of the pod itself, of its node, of cloud metadata services that hand out credentials, and multicast
 * addresses. They are allowed only by a range that lies within one of these; a wider range that contains them is not
 * enough.
 */
const guarded: readonly string[] = [
  '0.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '192.0.0.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // Metadata of Alibaba Cloud and of Azure, which are not link-local.
  '100.100.100.200/32',
  '168.63.129.16/32',
  // Unspecified, the pod itself, and IPv4-compatible addresses, which some systems still route as the IPv4 address in them.
  '::/96',
  'fe80::/10',
  'ff00::/8',
  // Metadata and the credentials of pods at AWS (::254, ::23), metadata of Google Cloud.
  'fd00:ec2::/32',
  'fd20:ce::254/128',
  // IPv4 addresses in other forms: translated, NAT64, 6to4, Teredo.
  '::ffff:0:0:0/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '2002::/16',
  '2001::/32',
];

function rangeOf(text: string): Range | undefined {
  const [address = '', length, ...rest] = text.split('/');
  const version = isIP(address);
  if (
    version === 0 ||
    rest.length > 0 ||
    address.includes('%') ||
    (length !== undefined && !/^\d{1,3}$/.test(length))
  ) {
    return undefined;
  }
  const longest = version === 4 ? 32 : 128;
  const prefix = length === undefined ? longest : Number(length);
  return prefix > longest ? undefined : { address, prefix, family: version === 4 ? 'ipv4' : 'ipv6' };
}

/** An IPv6 address in its one canonical form: groups in hexadecimal, with at most one gap. */
const canonical = (address: string) => new URL(`http://[${address}]`).hostname.slice(1, -1);

/** The numbers that an address is written as: four of 8 bits, or eight of 16. */
function partsOf({ address, family }: Range): number[] {
  if (family === 'ipv4') {
    return address.split('.').map(Number);
  }
  const [before = [], after = []] = canonical(address)
    .split('::')
    .map((half) => half.split(':').filter((group) => group !== ''));
  const gap = Array<string>(8 - before.length - after.length).fill('0');
  return [...before, ...gap, ...after].map((group) => Number.parseInt(group, 16));
}

/** The range that was probably meant by an address with bits set after the prefix; undefined if there are none. */
function meantRange(range: Range): string | undefined {
  const parts = partsOf(range);
  const isShort = range.family === 'ipv4';
  const size = isShort ? 8 : 16;
  const start = parts.map((part, index) => {
    const behind = Math.min(size, Math.max(0, size * (index + 1) - range.prefix));
    return (part >> behind) << behind;
  });
  if (start.join() === parts.join()) {
    return undefined;
  }
  return `${isShort ? start.join('.') : canonical(start.map((part) => part.toString(16)).join(':'))}/${range.prefix}`;
}

function listOf(ranges: readonly Range[]): BlockList {
  const list = new BlockList();
  for (const { address, prefix, family } of ranges) {
    list.addSubnet(address, prefix, family);
  }
  return list;
}

const guardedRanges = guarded.map((text) => rangeOf(text) as Range);
const guardedList = listOf(guardedRanges);

function isWithinGuarded(range: Range): boolean {
  return guardedRanges.some(
    (one) =>
      one.family === range.family && one.prefix <= range.prefix && listOf([one]).check(range.address, range.family),
  );
}

const mappedPrefix = /^::ffff:(?=\d{1,3}\.)/i;

/** An address as lists are searched for it: without a zone, and IPv4 as such. */
function plain(address: string): { address: string; family: 'ipv4' | 'ipv6' } {
  const [bare = ''] = address.split('%', 1);
  const unmapped = bare.replace(mappedPrefix, '');
  return isIPv4(unmapped) ? { address: unmapped, family: 'ipv4' } : { address: bare, family: 'ipv6' };
}

export interface AllowList {
  /** Whether the operator has listed a host by name. */
  names(hostname: string): boolean;
  /** Whether any address of a name could be allowed; if not, it need not be resolved. */
  mayReach(hostname: string): boolean;
  /** Whether a host may be called at an address that it resolves to (or that it is). */
  allows(hostname: string, address: string): boolean;
}

const name = /^\.?[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;

/**
 * Parses an operator's allow list: ranges of addresses (`10.0.0.0/8`, `192.0.2.7`), and names, which include their
 * subdomains (`svc`, `example.com`).
 *
 * @throws {AllowListError} for an entry that is neither, and for a range that does not start at its address
 *   (`10.1.2.3/8`).
 */
export function parseAllowList(entries: readonly string[]): AllowList {
  const ordinary: Range[] = [];
  const named: Range[] = [];
  const suffixes: string[] = [];
  for (const entry of entries) {
    const range = rangeOf(entry);
    const lower = entry.toLowerCase();
    const meant = range && meantRange(range);
    if (range !== undefined && meant !== undefined) {
      throw new AllowListError(
        `a range cannot start at this address: did you mean ${meant}, or ${range.address} alone?`,
      );
    }
    if (range !== undefined) {
      (isWithinGuarded(range) ? named : ordinary).push(range);
    } else if (name.test(lower) && !/^[\d.]+$/.test(lower)) {
      suffixes.push(lower.startsWith('.') ? lower : `.${lower}`);
    } else {
      throw new AllowListError('it must be an address range such as 10.0.0.0/8, or a DNS suffix such as svc');
    }
  }
  const ordinaryList = listOf(ordinary);
  const namedList = listOf(named);
  const isNamed = (hostname: string) => suffixes.some((suffix) => `.${hostname}`.endsWith(suffix));
  return {
    names: isNamed,
    mayReach: (hostname) => isNamed(hostname) || ordinary.length > 0 || named.length > 0,
    allows(hostname, text) {
      const { address, family } = plain(text);
      if (guardedList.check(address, family)) {
        return namedList.check(address, family);
      }
      return ordinaryList.check(address, family) || (isIP(hostname) === 0 && isNamed(hostname));
    },
  };
}
