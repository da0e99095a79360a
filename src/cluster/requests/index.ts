export { askedWait, type Cluster, connect, type Patience, StatusError, shortPatience } from './cluster.ts';
export { explain, Forbidden } from './forbidden.ts';
export { type ListOptions, listPages, type Page } from './list.ts';
export { ConnectionError, ResponseError, ResponseTooLong, withRemedy } from './transport.ts';
