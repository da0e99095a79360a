export type { Application, Foundation } from './application.ts';
export type { BodyRefusal } from './body.ts';
export { lateMessage, refuseBrokenRequests } from './broken-requests.ts';
export { forAllowedClients } from './client-policy.ts';
export { createRespond, receiveBody } from './receive.ts';
export { refuseUnread } from './response.ts';
