// Required by `npm run test:fast`, before the processes that run the files start.
process.env['STEWARD_TESTS_FAST'] = '1';
