import type * as complete from 'prom-client';
import counter from 'prom-client/lib/counter.js';
import gauge from 'prom-client/lib/gauge.js';
import histogram from 'prom-client/lib/histogram.js';
import registry from 'prom-client/lib/registry.js';

// The parts of prom-client that servers use, with the same classes as the complete library. That also pushes to
// gateways, aggregates process clusters and has OpenTelemetry's API for exemplars, which takes 90 files and 50 ms at
// startup.
//
// The types are those of the complete library: users of this package have no declarations of its individual modules, and
// everything that mentions one would be `any` to them.
export const Counter: typeof complete.Counter = counter;
export type Counter<T extends string = string> = complete.Counter<T>;
export const Gauge: typeof complete.Gauge = gauge;
export type Gauge<T extends string = string> = complete.Gauge<T>;
export const Histogram: typeof complete.Histogram = histogram;
export type Histogram<T extends string = string> = complete.Histogram<T>;
export const Registry: typeof complete.Registry = registry;
export type Registry = complete.Registry;
