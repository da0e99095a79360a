import './node-version.ts';

export * from '../extension/sdk/topology/index.ts';
