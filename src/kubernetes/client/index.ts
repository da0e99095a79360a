export * from './kubeconfig.ts';
export * from './requests/kubernetes-client.ts';
export { ConnectionError, ResponseError, ResponseTooLong } from './requests/transport.ts';
export * from './secrets.ts';
export * from './watches/informer.ts';
