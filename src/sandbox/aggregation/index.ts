export { type AggregationPace, Aggregator, type Remote } from './aggregator.ts';
export { keepLocalApiServices } from './local.ts';
export { sendUnavailable } from './proxy.ts';
