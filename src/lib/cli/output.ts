export * from '../platform/format';
