export { type AggregationPace, Aggregator, defaultPace, type Remote } from './aggregator.ts';
export { keepLocalApiServices } from './local.ts';
export { sendUnavailable } from './proxy.ts';
