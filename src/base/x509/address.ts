import { isIPv4, isIPv6 } from 'node:net';

/** Whether a name in a certificate is an IP address, which has no zone. */
export function isAddress(name: string): boolean {
  // The pattern for IPv6 takes Node.js some milliseconds to compile: DNS names do without.
  return name.includes(':') ? isIPv6(name) && !name.includes('%') : isIPv4(name);
}

/** An IP address without an IPv4 address in it: node-forge encodes `::ffff:10.0.0.1` as another address, or not at all. */
export function withoutDots(address: string): string {
  return address.includes(':') ? new URL(`https://[${address}]`).hostname.slice(1, -1) : address;
}
