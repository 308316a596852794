export * from '../platform/terminal/format';
