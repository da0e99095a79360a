import './node-version.ts';

export * from '../extension/sdk/testing/index.ts';
