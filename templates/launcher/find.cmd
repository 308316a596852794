:find_node
for %%P in ("%PATH:;=" "%") do if exist "%%~P\node.exe" call :node_in "%%~P"
if defined NVM_SYMLINK call :node_in "%NVM_SYMLINK%"
if defined FNM_DIR call :node_in "%FNM_DIR%\aliases\default"
if defined APPDATA call :node_in "%APPDATA%\fnm\aliases\default"
if defined LOCALAPPDATA call :node_in "%LOCALAPPDATA%\Programs\nodejs"
if defined ProgramFiles call :node_in "%ProgramFiles%\nodejs"
if defined USERPROFILE call :node_in "%USERPROFILE%\scoop\apps\nodejs\current"
exit /b 0

:node_in
rem Skip relative PATH entries, which would resolve against the current folder.
set "folder=%~1"
if not "%folder:~1,1%"==":" if not "%folder:~0,2%"=="\\" exit /b 0
if not exist "%node%" if exist "%~1\node.exe" set "node=%~1\node.exe"
exit /b 0

:find_steward
if defined APPDATA call :steward_in "%APPDATA%\npm"
if defined NVM_SYMLINK call :steward_in "%NVM_SYMLINK%"
if defined LOCALAPPDATA call :steward_in "%LOCALAPPDATA%\pnpm\global\5"
if defined LOCALAPPDATA call :steward_in "%LOCALAPPDATA%\Volta\tools\image\packages\@PACKAGE@"
if defined ProgramFiles call :steward_in "%ProgramFiles%\nodejs"
if defined USERPROFILE call :steward_in "%USERPROFILE%\scoop\persist\nodejs\bin"
exit /b 0

:steward_in
if not exist "%steward%" if exist "%~1\node_modules\@PACKAGE@\bin\run.js" set "steward=%~1\node_modules\@PACKAGE@\bin\run.js"
exit /b 0
